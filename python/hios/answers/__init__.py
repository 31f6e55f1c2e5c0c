"""Pictures in, answers out: pictures become a model's input, and its output the most likely classes.

    network        the form of a model's input and outputs, from hios-schedule
    preprocessing  the sizes and numbers by which pictures are converted
    pictures       reads picture files by Pillow, whatever their kind
    tensor         pictures become an .npy file: tensor_for(), which hios bench uses, too
    arrays         .npy files without NumPy
    labels, top    the largest values of an output, with their names
    running        hios run with pictures or --top: hios-run as a child, before and after it the rest
"""
