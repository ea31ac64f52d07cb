"""A module that is not there."""

import a_module_that_is_not_there


class ModelNew:
    pass
