from abide_sdk.sync import Client

from order import orders

client = Client()
client.deploy(orders)
run = client.start(orders, {"id": 7, "amount": 42})
client.notify("order.paid", {"order": 7})
for record in run.follow():
    if record["type"] == "APPROVAL_REQUESTED":
        client.approvals.decide(str(record["waitpointId"]), "approve")
print(run.result())
