// Which filters are about messages of all topics. A run over these is asked for with "all": true, so the API and the
// console decide alike.

const neverNarrow = ['status', 'archived']

export function meansAllTopics(filter: Readonly<Record<string, unknown>>): boolean {
  return Object.keys(filter).every((name) => neverNarrow.includes(name))
}
