"""Does not parse: at line 4."""


class ModelNew(:
    pass
