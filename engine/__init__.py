"""The rules of the two games in plain Python: what every fast kernel is tested against.

Nothing here reads or writes files, and nothing here imports the other packages.
"""
