/** The id of the consumer of messages that do not say which consumer group failed, in the specification's words. */
export const noConsumer = '(none)'
