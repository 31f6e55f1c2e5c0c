"""Pictures of results, by Matplotlib where it is installed.

    comparison  the rows of a comparison as bars, or as lines over numbers of devices
    schedule    hios schedule --plot FILE: plans, then draws the comparison
"""
