"""NeMo Gym starts this file as the resources server of configs/hone_kernels.yaml."""

from hone.adapters.nemo_gym import HoneResourcesServer

if __name__ == "__main__":
    HoneResourcesServer.run_webserver()
