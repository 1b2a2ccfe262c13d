/** The specification's consumer id for messages whose consumer group is unknown. */
export const noConsumer = '(none)'
