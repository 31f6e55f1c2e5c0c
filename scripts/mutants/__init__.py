"""Changes lines of the code one at a time in a copy of the tree, and says which changes the tests catch. Standard library
only.

    list.toml  the changes, and the tests that concern them
    mutation   one change, and its insertion into the code
    tree       the copy: filling, building, testing
"""
