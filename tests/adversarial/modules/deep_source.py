"""So deep that a parser might die of it."""


class ModelNew:
    x = ()
