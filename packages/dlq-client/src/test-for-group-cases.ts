// Records of the topic orders, and whether billing handles them, by their header dlq-for-group.

export const forGroupCases: readonly { header: string | null | undefined; handled: boolean }[] = [
  { header: undefined, handled: true },
  { header: null, handled: true },
  { header: '', handled: true },
  { header: 'orders/billing', handled: true },
  { header: 'orders/search', handled: false },
  // Forwarded by an application to a topic of its own.
  { header: 'payments/search', handled: true },
  { header: 'orders', handled: true },
  { header: '/search', handled: true },
  { header: 'orders/', handled: true },
  // A group may have a slash in its name; a topic has none.
  { header: 'orders/team/search', handled: false },
  { header: 'Orders/search', handled: true },
]
