-- Loses events, routes and deliveries.
drop table if exists dlq.dlq_deliveries;
drop table if exists dlq.dlq_notification_channels;
drop table if exists dlq.dlq_notification_routes;
drop table if exists dlq.dlq_event_watch;
drop table if exists dlq.dlq_events;
