import time
from pathlib import Path

from flwr.app import Context, Message, RecordDict
from flwr.serverapp import Grid, ServerApp

ROUNDS = 4  # ranges, moments, pair sums, and the result
POLL_SECONDS = 0.25  # as ours; the engine's own loop would wait 3 s

app = ServerApp()


@app.main()
def main(grid: Grid, context: Context) -> None:
    nodes = list(grid.get_node_ids())
    for number in range(ROUNDS):
        messages = [Message(RecordDict(), node, "query.step", ttl=300, group_id=str(number)) for node in nodes]
        waiting = set(grid.push_messages(messages))
        while waiting:
            waiting -= {reply.metadata.reply_to_message_id for reply in grid.pull_messages(waiting)}
            if waiting:
                time.sleep(POLL_SECONDS)
    Path(str(context.run_config["run"])).write_text("done", encoding="utf-8")
