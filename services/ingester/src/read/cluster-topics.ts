// Which cluster answers behind the addresses of the configuration, and which of its topics are DLQ topics. What these looks
// find goes to the list of topics, to the mappings that all readers of records share, and to the log.

import { mappingsOf } from 'dlq-core/domain/discovery/subscription.ts'
import type { TopicMapping } from 'dlq-core/domain/failure/topic-names.ts'
import type { TopicReader } from 'dlq-core/runtime/kafka/topic-reader.ts'
import type { IngesterMetrics } from '../ingester-metrics.ts'
import { type DiscoverDeps, discoverTopics, leaveCluster } from './discover-topics.ts'
import { isRefused } from './missing-acl.ts'
import type { TopicList } from './topic-list.ts'

export type ClusterTopics = {
  /** The id of the cluster; empty until it has answered. */
  id(): string
  /** Asks which cluster answers: another one may one day, also while this process runs. */
  identify(): Promise<void>
  /** Looks for the DLQ topics. Call it when the cluster has answered. */
  discover(): Promise<void>
}

export type ClusterTopicsDeps = Omit<DiscoverDeps, 'cluster'> & {
  reader: TopicReader
  metrics: Pick<IngesterMetrics, 'recreated'>
  topicList: TopicList
  /** Those of the configuration. */
  configured: readonly TopicMapping[]
  /** Changed in place: those of subscriptions, before those of the configuration. */
  mappings: TopicMapping[]
}

export function createClusterTopics(deps: ClusterTopicsDeps): ClusterTopics {
  const { admin, reader, sql, log, metrics, topicList, configured, mappings } = deps
  let cluster = ''

  return {
    id: () => cluster,

    async identify() {
      const was = cluster
      const { clusterId } = await admin.describeCluster()
      if (clusterId === was) return
      if (was !== '') await leaveCluster(sql, was)
      // Several batches may ask at once.
      if (cluster !== was) return
      cluster = clusterId
      if (was === '') return
      log.error({ was, now: cluster }, 'cluster_changed')
      topicList.forget()
    },

    async discover() {
      const { topics, startedOver, subscriptions, listed } = await discoverTopics({ ...deps, cluster })
      mappings.splice(0, mappings.length, ...mappingsOf(subscriptions), ...configured)
      for (const { topic, partition, seen_offset: seenOffset } of startedOver) {
        metrics.recreated(topic)
        log.error({ topic, partition, seenOffset }, 'topic_recreated')
      }
      const left = topicList.update(topics)
      const ignored = left.filter((topic) => listed.has(topic))
      if (ignored.length > 0) log.info({ topics: ignored, cause: 'no subscription and no pattern' }, 'topics_left')
      // Kafka does not list topics that a client may not see.
      const gone = left.filter((topic) => !listed.has(topic))
      if (gone.length === 0) return
      log.warn({ topics: gone, cause: 'deleted, or an ACL hides them' }, 'topics_gone')
      for (const topic of gone)
        if (await isRefused(reader, topic)) log.error({ missing: `Read on Topic ${topic}` }, 'acl_missing')
    },
  }
}
