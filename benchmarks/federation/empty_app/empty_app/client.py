from flwr.app import Context, Message, RecordDict
from flwr.clientapp import ClientApp

app = ClientApp()


@app.query("step")
def step(message: Message, context: Context) -> Message:  # noqa: ARG001 (the engine's signature)
    return Message(RecordDict(), reply_to=message)
