// dlq_messages: which messages a claim takes, as parts of its statement (batches.ts). A share `s` is what may be claimed
// of one topic, by itself or for one run; `m` is a row of dlq_messages.

import { heldUnlessForced } from '../origin/held-for-origin.ts'
import type { Fragment, Sql } from '../sql.ts'

/** How many due messages of one ordered topic a claim reads to find some that need not wait. */
const orderedWindow = 20_000
/**
 * How many it reads of all other ordered topics together, but at least of each. Chance says which one is read further:
 * 20,000 messages behind one key took each claim 0.2 s for each topic that had them, and all other topics waited for it.
 */
const otherWindows = 5000
const leastWindow = 1000

/**
 * For how many messages of an ordered topic a claim looks up the first of their key, one by one: `least` and twice
 * its share, and no more than `most`. Usually these are enough. Of the rest it asks once for each key: 20,000 behind one key take 40 ms, not 300.
 */
const askedOneByOne = { most: 1000, least: 100 }

/** How many messages of share s a claim reads, and how many of these it asks about one by one. */
export function windowOf(sql: Sql) {
  const count = sql`count(*) over (partition by s.windowed)`
  const { most, least } = askedOneByOne
  return sql`
    case when row_number() over (partition by s.windowed) = 1 + floor(${count} * (select chance from dice)) then ${orderedWindow}::int
         else greatest(s.quota, ${leastWindow}::int, (${otherWindows}::int / ${count})::int) end as window,
    least(${most}::int, ${least}::int + 2 * s.quota) as one_by_one`
}

/** About how much memory a message takes. PostgreSQL knows the sizes without reading values stored out of line. */
export function bytesOf(sql: Sql) {
  return sql`
    coalesce(octet_length(m.record_value), pg_column_size(m.payload), 0) + coalesce(octet_length(m.record_key), 0) + coalesce(pg_column_size(m.record_headers), 0)`
}

/** Whether the paused groups of share s allow message m. */
function notPaused(sql: Sql) {
  return sql`(s.paused = '{}' or m.retry_requested or m.group_id is null or m.group_id <> all (s.paused))`
}

/** Whether the topics that somebody has paused allow message m of share s. */
function notOfPausedTopic(sql: Sql) {
  return sql`(s.paused_topics = '{}' or m.dlq_topic is null or m.dlq_topic <> all (s.paused_topics))`
}

/**
 * Whether the message of the share that comes first is of a paused DLQ topic. Then many may be, and only a window of
 * the share's messages is read for others.
 */
export function beginsPaused(sql: Sql) {
  const first = (where: Fragment, order: Fragment) => sql`
    (select m.dlq_topic = any(paused.topics) from dlq.dlq_messages m
     where m.original_topic = s.topic and m.status = 'PENDING' and ${where} order by ${order} limit 1)`
  return sql`
    paused.topics <> '{}' and coalesce(
      case when s.run is null then ${first(sql`m.run_id is null and m.next_retry_at <= now()`, sql`m.next_retry_at, m.id`)}
           else ${first(sql`m.run_id = s.run`, sql`m.id`)} end, false)`
}

/** The messages of share s to claim, and their order. Each of the two sources goes along its own index. */
type Source = {
  shares: Fragment
  due: Fragment
  /** As `due`, also of paused topics. */
  waits: Fragment
  /** As `due`, of messages whose ids are known: no condition that would lead PostgreSQL 15 and 16 along another index. */
  still: Fragment
  order: Fragment
}

function sourcesOf(sql: Sql): Source[] {
  const due = sql`m.status = 'PENDING' and m.run_id is null and m.next_retry_at <= now() and m.retry_count < m.max_retries and ${notPaused(sql)}
    and (m.retry_requested or not ${heldUnlessForced(sql, 'm.')})`
  const held = (ofRun: Fragment) => sql`m.status = 'PENDING' and ${ofRun} and m.retry_count < m.max_retries
    and not ${heldUnlessForced(sql, 'm.')}`
  return [
    // Messages that are due by themselves and in no run.
    {
      shares: sql`s.run is null`,
      due: sql`${due} and ${notOfPausedTopic(sql)}`,
      waits: due,
      still: sql`${due} and ${notOfPausedTopic(sql)}`,
      order: sql`m.next_retry_at, m.id`,
    },
    // Messages that a run holds, due by themselves or not. Somebody asked for them, so no pause of their group counts.
    {
      shares: sql`s.run is not null`,
      due: sql`${held(sql`m.run_id = s.run`)} and ${notOfPausedTopic(sql)}`,
      waits: held(sql`m.run_id = s.run`),
      still: sql`${held(sql`(m.run_id = s.run) is true`)} and ${notOfPausedTopic(sql)}`,
      order: sql`m.id`,
    },
  ]
}

/** Locks the due messages of the shares that are neither ordered nor partly paused. */
function dueOfFreeTopics(sql: Sql, { shares, due, order }: Source) {
  return sql`
    select oldest.id, oldest.bytes
    from owner
    cross join share s
    cross join lateral (
      select id, ${bytesOf(sql)} as bytes from dlq.dlq_messages m
      where m.original_topic = s.topic and ${due}
      order by ${order}
      limit s.quota
      for update skip locked
    ) oldest
    where not s.windowed and ${shares}`
}

/** Locks the due messages of the other shares: those in a window that are not paused and need not wait for another of their key. */
function dueInWindow(sql: Sql, { shares, waits, still, order }: Source) {
  const ofKey = (row: Fragment) =>
    sql`coalesce(${row}.original_partition, -1), coalesce(${row}.original_offset, -1), ${row}.id`
  const mayGo = sql`
    (s.paused_topics = '{}' or w.dlq_topic is null or w.dlq_topic <> all (s.paused_topics))
    -- An earlier message that this snapshot sees as unresolved may be resolved by now. The reverse cannot happen.
    -- Sought as the first of its key, which the index gives at once: for an "exists" PostgreSQL reads all earlier ones
    -- (20,000 of one key took it more than a minute).
    and (not s.ordered or w.order_key is null or w.id = (
      select e.id from dlq.dlq_messages e
      where e.original_topic = s.topic and e.order_key = w.order_key and e.status in ('PENDING', 'RETRYING')
        -- Whoever may write any DLQ topic could hold up the keys of others.
        and (not e.held_by_route or e.id = w.id)
      order by ${ofKey(sql`e`)}
      limit 1))`
  return sql`
    select first.id, first.bytes
    from owner
    cross join share s
    cross join lateral (
      select m.id, ${bytesOf(sql)} as bytes
      from dlq.dlq_messages m
      -- Locks only here, so that the messages that this passes over stay unlocked.
      where m.id = any(array(
        -- Read only as far as is asked for.
        with waiting as materialized (
          select m.id, m.dlq_topic, m.order_key, m.original_partition, m.original_offset, row_number() over (order by ${order}) as place
          from dlq.dlq_messages m
          where m.original_topic = s.topic and ${waits}
          order by ${order}
          limit s.window
        )
        select id
        from (
          select w.id from (select * from waiting limit s.one_by_one) w where ${mayGo}
          union all
          select w.id
          from (
            select *
            from (
              -- Whatever is the first of its key is also the first of those of the key that wait here.
              select distinct on (ordered_key, alone) waiting.*
              from waiting
              cross join lateral (
                select case when s.ordered then order_key end as ordered_key,
                       case when not s.ordered or order_key is null then id end as alone
              ) of_key
              where place > s.one_by_one
              order by ordered_key, alone, ${ofKey(sql`waiting`)}
            ) first_of_key
            order by place
          ) w
          where ${mayGo}
        ) found
        limit s.quota
      ))
        and ${still}
      for update skip locked
    ) first
    where s.windowed and ${shares}`
}

/** Locks the messages that all shares may claim: their ids and sizes. */
export function dueMessages(sql: Sql) {
  return sourcesOf(sql)
    .flatMap((source) => [dueOfFreeTopics(sql, source), dueInWindow(sql, source)])
    .reduce((all, due) => sql`${all} union all ${due}`)
}
