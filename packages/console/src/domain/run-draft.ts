// The draft of a run: what stands in its address, and the request that it becomes.

import { meansAllTopics } from 'dlq-core/domain/message/all-topics.ts'
import { adminKinds, unlimitedKinds } from 'dlq-core/domain/message/run-kinds.ts'
import { findNodeAtLocation, parseTree } from 'jsonc-parser'
import { filterOf, type MessageFilter, requestFilter, type Search } from './addresses.ts'
import type { Total } from './lists/match-total.ts'
import { sends, totalText } from './runs.ts'
import { headOf, numberText, plural } from './words.ts'

export const draftKinds = [
  'retry',
  'redirect',
  'dead',
  'revive',
  'archive',
  'restore',
  'delete',
  'purge',
  'edit',
  'origin',
] as const
export type DraftKind = (typeof draftKinds)[number]

export type CanaryChoice = 'careful' | 'off'

export type Draft = {
  readonly kind: DraftKind
  readonly selection: Readonly<Record<string, unknown>>
  /** It is about messages of all topics: somebody has to agree to that. */
  readonly everything: boolean
  /** Not all of the messages that were chosen are in it. */
  readonly isCut: boolean
  readonly rate: number | null
  /** Null: careful from 21 messages on. */
  readonly canary: CanaryChoice | null
  readonly onRefailure: 'continue' | 'pause' | 'cancel'
  readonly targetTopic: string | null
  readonly force: boolean
  /** What a policy holds because something newer may have been written is sent too. */
  readonly sendsStale: boolean
  /** Of kind origin: what is proved and differs takes the place of its copy. */
  readonly adopt: boolean
}

/** The role that such a run needs, and whether for all topics. */
export function roleOfKind(kind: DraftKind): { role: 'sys_operator' | 'sys_admin'; ofAll: boolean } {
  return { role: adminKinds.includes(kind) ? 'sys_admin' : 'sys_operator', ofAll: unlimitedKinds.includes(kind) }
}

/** Relative times (`-24h`) are counted from `now`. `chosen`: the ids of messages whose number alone stands in `search`. */
export function readDraft(search: Search, now: Date, chosen: readonly string[] = []): Draft {
  const kind = draftKinds.find((one) => one === search.kind) ?? 'retry'
  const rate = Number(search.rate_per_second)
  return {
    kind,
    ...selectionOf(search, now, chosen),
    rate: search.rate_per_second !== undefined && rate > 0 ? rate : null,
    canary: search.canary === 'careful' || search.canary === 'off' ? search.canary : null,
    onRefailure: search.on_refailure === 'continue' || search.on_refailure === 'cancel' ? search.on_refailure : 'pause',
    targetTopic: search.target_topic ?? null,
    force: search.force === 'true',
    sendsStale: sends(kind) && search.staleness === 'send',
    adopt: kind === 'origin' && search.adopt === 'true',
  }
}

function selectionOf(
  search: Search,
  now: Date,
  chosen: readonly string[],
): Pick<Draft, 'selection' | 'everything' | 'isCut'> {
  const whole = { everything: false, isCut: false }
  if (search.failed_again_in) return { selection: { failed_again_in: search.failed_again_in }, ...whole }
  if (search.changed_in) return { selection: { changed_in: search.changed_in }, ...whole }
  if (search.ids) {
    const isCount = /^\d+$/.test(search.ids)
    const ids = isCount ? chosen : search.ids.split(',')
    return { selection: { ids }, everything: false, isCut: isCount && ids.length !== Number(search.ids) }
  }
  if (search.group) return { selection: { group: search.group }, ...whole }
  const { topic, ...rest } = requestFilter(filterOf(search), now)
  const filter: MessageFilter = topic === undefined ? rest : { topic, ...rest }
  return { ...whole, selection: { filter }, everything: meansAllTopics(filter) }
}

/**
 * The frozen selection of a run as the address of another draft. Null where an address cannot say all of it: a draft that said
 * less would reach more.
 */
export function searchOfSelection({ filter, failed_again_in }: Readonly<Record<string, unknown>>): Search | null {
  if (typeof failed_again_in === 'string') return { failed_again_in }
  if (typeof filter !== 'object' || filter === null) return null
  const entries = Object.entries(filter).filter(([, value]) => value !== null)
  const isPlain = (value: unknown) => typeof value !== 'object' && value !== '•••'
  const texts = entries.map(([name, value]) => [name, Array.isArray(value) ? value.join(',') : String(value)] as const)
  const whole = entries.every(([, value]) => (Array.isArray(value) ? value.every(isPlain) : isPlain(value)))
  const search = Object.fromEntries(texts)
  return whole && texts.length === Object.keys(filterOf(search)).length ? search : null
}

/** First one, then one in a hundred; each followed by 60 s of quiet, and at most 5 % back. */
// biome-ignore lint/suspicious/noThenProperty: the name that the API gives it; nobody awaits it
export const careful = { first: 1, then: '1%', wait: '60s', max_refailure: '5%' } as const

/** Above this, careful is preselected: a mistake would reach too many before anybody sees it. */
const carefulAbove = 20

export function canaryOf(draft: Draft, eligible: number): CanaryChoice {
  if (!sends(draft.kind)) return 'off'
  return draft.canary ?? (eligible > carefulAbove ? 'careful' : 'off')
}

/** What the API is asked for. `matched` is the number that the button showed; null for the dry run. */
export function runRequest(
  draft: Draft,
  { reason, all, eligible, matched }: { reason: string; all: boolean; eligible: number; matched: Total | null },
): Record<string, unknown> {
  return {
    kind: draft.kind,
    selection: draft.selection,
    ...(draft.kind === 'redirect' ? { target_topic: draft.targetTopic ?? '' } : {}),
    ...(draft.force && sends(draft.kind) ? { force: true } : {}),
    ...(draft.sendsStale ? { staleness: 'send' } : {}),
    ...(draft.adopt ? { adopt: true } : {}),
    ...(all ? { all: true } : {}),
    ...(reason === '' ? {} : { reason }),
    ...(matched === null
      ? { dry_run: true }
      : {
          // The API compares no number that it has not counted to the end.
          ...(matched.relation === 'gte' ? {} : { expect_count: matched.value, expect_tolerance: '10%' }),
          ...(draft.rate === null || !sends(draft.kind) ? {} : { rate_per_second: draft.rate }),
          ...(canaryOf(draft, eligible) === 'careful' ? { canary: careful } : {}),
          ...(sends(draft.kind) ? { on_refailure: draft.onRefailure } : {}),
        }),
  }
}

/** The request as JSON, with the patch as it was written. */
export function requestText(request: Readonly<Record<string, unknown>>, patch: string | null): string {
  const text = JSON.stringify(request)
  return patch === null ? text : `${text.slice(0, -1)},"patch":${patch}}`
}

/** What each sample is before and after its change, as the answer of the dry run has it: digits and all. */
export function exactDiffs(answer: string): { before: string; after: string }[] {
  const tree = parseTree(answer)
  const textAt = (path: (string | number)[]) => {
    const node = tree === undefined ? undefined : findNodeAtLocation(tree, path)
    return node === undefined ? 'null' : answer.slice(node.offset, node.offset + node.length)
  }
  const diffs = tree === undefined ? undefined : findNodeAtLocation(tree, ['diff'])
  return (diffs?.children ?? []).map((_, at) => ({
    before: textAt(['diff', at, 'before']),
    after: textAt(['diff', at, 'after']),
  }))
}

const verbs: Record<DraftKind, string> = {
  retry: 'Retry',
  redirect: 'Redirect',
  dead: 'Give up',
  revive: 'Revive',
  archive: 'Archive',
  restore: 'Restore',
  delete: 'Delete',
  purge: 'Purge',
  edit: 'Change',
  origin: 'Compare with originals',
}

/** "Retry 343 messages to orders": the button says it all. `changed`: by a patch, or by the originals that are adopted. */
export function startWords(kind: DraftKind, matched: Total, topics: readonly string[], changed: boolean): string {
  const count = matched.value
  const what = `${totalText(matched)} ${plural(count, 'message')}`
  if (kind === 'origin')
    return `Compare ${what} with ${plural(count, 'its original', 'their originals')}${changed ? ', and adopt what differs' : ''}`
  const to = sends(kind) && topics.length === 1 ? ` to ${topics[0]}` : ''
  return `${changed && kind === 'retry' ? 'Change and retry' : verbs[kind]} ${what}${to}`
}

/** "343", or "20 of 160" where the others, such as those of another run, are left alone as they are now. */
export function eligibleWords(survey: { matched: Total; eligible: number; complete: boolean }): string {
  const { matched, eligible, complete } = survey
  const all = totalText(matched)
  return complete && eligible < matched.value ? `${numberText(eligible)} of ${all}` : all
}

export function verbOf(kind: DraftKind): string {
  return verbs[kind]
}

/** "to give up, of all messages of one error group": behind the number of those that the run can change. */
export function meantWords({ kind, selection }: Pick<Draft, 'kind' | 'selection'>): string {
  const verb = verbs[kind]
  return `to ${verb[0]!.toLowerCase()}${verb.slice(1)}, of ${selectionWords(selection)}`
}

/** The one error group that a run takes from; null where it is not about one. */
export function groupOfSelection(selection: Readonly<Record<string, unknown>>): string | null {
  const { group_id } = (selection.filter ?? {}) as { group_id?: unknown }
  return typeof group_id === 'string' && group_id !== '•••' ? group_id : null
}

/** "orders.dlq.v1, DEAD": the filter in words. `group`: the title of its error group, where that is known. */
export function selectionWords(selection: Readonly<Record<string, unknown>>, group: string | null = null): string {
  if (selection.ids !== undefined) {
    const { ids } = selection
    const count = Array.isArray(ids) ? ids.length : Number(ids)
    return `${numberText(count)} chosen ${plural(count, 'message')}`
  }
  if (selection.group !== undefined) return 'all messages of one error group'
  if (selection.failed_again_in !== undefined) return 'what came back from another run'
  if (selection.changed_in !== undefined) return 'what another run changed'
  const filter = (selection.filter ?? {}) as Record<string, unknown>
  const named = group !== null && groupOfSelection(selection) !== null
  const parts = Object.entries(filter)
    .filter(([name]) => !(named && name === 'group_id'))
    .map(([name, value]) => `${name} ${Array.isArray(value) ? value.join(' or ') : String(value)}`)
  if (named) return `messages of “${headOf(group, 120)}”${parts.length === 0 ? '' : ` with ${parts.join(', ')}`}`
  return parts.length === 0 ? 'all messages of all topics' : `messages with ${parts.join(', ')}`
}

const ineligible: Readonly<Record<string, string>> = {
  dead: 'DEAD',
  resolved: 'sent already',
  retrying: 'being sent',
  pending: 'waiting',
  archived: 'in the archive',
  in_another_run: 'held by another run',
  held_by_route: 'held by a route',
  held_for_origin: 'held because of the original',
  budget_spent: 'out of attempts',
  not_comparable: 'not to be compared: edited, not from a DLQ topic, or changed meanwhile',
  same: 'the same as the original already',
  mismatch: 'without the original: another record stands at its place',
  unproved: 'not proved to be the same record',
  gone: 'without the original: Kafka does not have it any more',
  unreachable: 'beside an original that could not be read',
  value_lost: 'held: the copy has lost its value',
  superseded: 'held by the policy: a newer record of the key was written',
  staleness_unknown: 'held by the policy: nobody can tell yet whether a newer record was written',
  wanted: 'beside an original that is looked for again',
  no_json: 'unchanged: the value is no JSON',
  patch_does_not_fit: 'unchanged: the change does not fit',
  unchanged: 'as the change wants it already',
  not_exact: 'unchanged: more than the change would differ',
  schema_refuses: 'unchanged: the schema does not allow the change',
  takes_too_long: 'unchanged: the change takes too long',
  changed: 'changed since the run began',
}

/** What a message is that a run leaves alone for this reason: "held by another run". */
export function leftAloneWords(reason: string): string {
  return ineligible[reason] ?? reason.replaceAll('_', ' ')
}

/** "27 are DEAD". */
export function ineligibleWords(reason: string, count: number): string {
  return `${numberText(count)} ${plural(count, 'is', 'are')} ${leftAloneWords(reason)}`
}

/** With separators or without, also in the digits of an East Asian keyboard, which are as wide as its letters. */
export function isNumberTyped(text: string, number: number): boolean {
  return text.normalize('NFKC').replace(/\D/g, '') === String(number)
}

/** Whether the number has to be typed before it starts. */
export function mustType(kind: DraftKind, count: number, production: boolean): boolean {
  return kind === 'delete' || kind === 'purge' || (production && count > 1000)
}
