# The consumer of infra/docs/recipes/confluent-kafka-python.md. It fails at each order that is not a retry.
import os
import traceback

from confluent_kafka import Consumer, Producer

brokers, topic, group = os.environ["BROKERS"], os.environ["TOPIC"], os.environ["GROUP"]

consumer = Consumer({
    "bootstrap.servers": brokers,
    "group.id": group,
    "auto.offset.reset": "earliest",
    "enable.auto.commit": False,
    "isolation.level": "read_committed",
})
producer = Producer({"bootstrap.servers": brokers, "enable.idempotence": True})


def dead_letter(record, error):
    """Writes the record unchanged to TOPIC.dlq.v1, and returns once Kafka has it."""
    ours = {
        "dlq-original-topic": record.topic(),
        "dlq-original-partition": str(record.partition()),
        "dlq-original-offset": str(record.offset()),
        "dlq-original-timestamp": str(record.timestamp()[1]),
        "dlq-consumer-group": group,
        "dlq-error-class": type(error).__name__,
        "dlq-error-message": str(error)[:8192],
        "dlq-error-stacktrace": "".join(traceback.format_exception(error))[:32768],
    }
    # The record's own headers stay, dlq-message-id and dlq-attempt too: they tell which retry failed.
    kept = [(name, value) for name, value in record.headers() or [] if name not in ours]
    failed = []
    producer.produce(
        f"{record.topic()}.dlq.v1",
        key=record.key(),
        value=record.value(),
        headers=kept + list(ours.items()),
        on_delivery=lambda fault, _: failed.append(fault) if fault else None,
    )
    if producer.flush(30) > 0 or failed:
        raise RuntimeError(f"the dead letter was not written: {failed}")


def charge(record):
    key = (record.key() or b"").decode()
    if key != os.environ["KEY"]:
        return
    if "dlq-attempt" not in dict(record.headers() or []):
        raise ValueError(f"no card for {key}")
    print(f"handled {key}", flush=True)


consumer.subscribe([topic])
while True:
    record = consumer.poll(1.0)
    if record is None:
        continue
    if record.error():
        raise RuntimeError(record.error())
    try:
        charge(record)
    except Exception as error:
        dead_letter(record, error)
    # Only now, so that a consumer that dies before has the record again.
    consumer.commit(record, asynchronous=False)
