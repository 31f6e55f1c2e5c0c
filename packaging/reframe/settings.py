"""ReFrame's settings for a cluster with Slurm: an example to edit. The scheduler "squeue" needs no accounting; srun needs
a Slurm with PMIx, as slurm/README.md says: then put "srun" and give options ["--mpi=pmix"]."""

site_configuration = {
    "systems": [{
        "name": "cluster",
        "descr": "a cluster with Slurm",
        "hostnames": [".*"],
        "partitions": [{
            "name": "nodes",
            "scheduler": "squeue",
            "launcher": "mpirun",
            "environs": ["builtin"],
            "max_jobs": 1,  # tests that run at the same time would measure each other
        }],
    }],
    "environments": [{"name": "builtin"}],
}
