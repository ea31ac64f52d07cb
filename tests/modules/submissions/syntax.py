class ModelNew(:
    pass
