// What a dry run found, in words: which messages a run would take, what it would leave alone, and why.
import type { components } from 'dlq-client/api-types.ts'
import { count, messages, plain } from '../output/words.ts'
import type { Session } from '../session.ts'

export type Survey = components['schemas']['RunSurvey']

/** Titles are asked for one by one; those of the other error groups are left out. */
const maxTitled = 5

/** Ids and titles of the error groups that fail most; a group that is gone, or not for this token, has no title. */
export async function groupTitles({ api }: Session, { groups }: Survey): Promise<ReadonlyMap<string, string>> {
  const ids = Object.keys(groups).filter((id) => id !== 'none')
  const titles = ids.slice(0, maxTitled).map(async (id) => {
    const { data } = await api.GET('/api/v1/groups/{id}', { params: { path: { id } } })
    return data ? [[id, data.title] as const] : []
  })
  return new Map((await Promise.all(titles)).flat())
}

/** "26 of 27 messages" where one is left alone; "at least …" where nobody counted to the end. */
export function matchedText({ matched, eligible, complete }: Survey): string {
  if (matched.relation === 'gte') return `at least ${messages(matched.value)}`
  const isPart = complete && eligible < matched.value
  return `${isPart ? `${count(eligible)} of ` : ''}${messages(matched.value)}`
}

export function surveyText(
  survey: Survey,
  { titles, sends }: { titles: ReadonlyMap<string, string>; sends: boolean },
): string {
  const { eligible, complete, ineligible, remedies, topics, groups } = survey
  const left = Object.entries(ineligible)
  const examined = eligible + left.reduce((sum, [, value]) => sum + value, 0)
  const where = eligible > 0 ? ` ${sends ? 'to' : 'of'} ${list(Object.entries(topics))}` : ''
  return [
    complete ? `${matchedText(survey)}${where}` : matchedText(survey),
    ...(complete ? [] : [`  of the first ${count(examined)}: ${count(eligible)}${where}`]),
    ...(Object.keys(groups).some((id) => id !== 'none') ? [`  that failed in ${groupsText(groups, titles)}`] : []),
    ...(left.length > 0 ? [`  left alone: ${list(left)}`] : []),
    ...Object.values(remedies).map((text) => `  ${plain(text)}`),
  ].join('\n')
}

function groupsText(groups: Survey['groups'], titles: ReadonlyMap<string, string>): string {
  const named = Object.entries(groups).map(([id, value]): [string, number] => {
    const title = titles.get(id)
    return [id === 'none' ? 'no error group' : title === undefined ? id : `“${plain(title)}”`, value]
  })
  const shown = named.slice(0, maxTitled + 1)
  return `${list(shown)}${named.length > shown.length ? ', and others' : ''}`
}

function list(counts: readonly (readonly [string, number])[]): string {
  return counts.map(([name, value]) => `${plain(name)} ${count(value)}`).join(', ')
}
