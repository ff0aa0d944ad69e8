from abide_sdk import Worker

from order import fulfil

Worker(handlers={"fulfil-order": fulfil}).run()
