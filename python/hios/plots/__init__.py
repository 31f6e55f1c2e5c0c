"""Pictures of results, by Matplotlib where it is installed.

    comparison  the rows of a comparison as bars, or as lines over numbers of devices
    timeline    a schedule's stages over time, for hios.Schedule.plot()
    schedule    hios schedule --plot FILE: plans, then draws the comparison
"""
