from abide import Worker

from order import fulfil

Worker(handlers={"fulfil-order": fulfil}).run()
