# Puts the test's names into the settings, and runs a worker with the connector. In the mode `transform` the order fails in
# a transformation, in the mode `sink` in the sink itself.
set -e
sed "s|^bootstrap.servers=.*|bootstrap.servers=$BROKERS|" worker.properties > "$STATE.worker.properties"
sed -e "s|^name=.*|name=$GROUP|" -e "s|=orders|=$TOPIC|" billing.properties > "$STATE.billing.properties"
if [ "$MODE" = transform ]; then
  printf 'transforms=charge\ntransforms.charge.type=shop.ChargeTransform\n' >> "$STATE.billing.properties"
fi
exec java -cp 'target/classes:target/dependency/*' org.apache.kafka.connect.cli.ConnectStandalone \
  "$STATE.worker.properties" "$STATE.billing.properties"
