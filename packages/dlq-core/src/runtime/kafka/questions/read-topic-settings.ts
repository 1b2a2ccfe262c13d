// The settings of topics in Kafka, by their names there.

import kafkajs, { type Admin } from 'kafkajs'

/** Setting → its value; null where it may not be read. Settings that the broker does not know are missing. */
export type SettingValues = ReadonlyMap<string, string | null>

/** The settings of these names, by topic. @throws where Kafka refuses one of the topics: kafkajs drops the whole answer */
export async function readTopicSettings(
  admin: Pick<Admin, 'describeConfigs'>,
  topics: readonly string[],
  configNames: string[],
): Promise<Map<string, SettingValues>> {
  const { resources } = await admin.describeConfigs({
    includeSynonyms: false,
    resources: topics.map((name) => ({ type: kafkajs.ConfigResourceTypes.TOPIC, name, configNames })),
  })
  return new Map(
    resources.map(({ resourceName, configEntries }) => [
      resourceName,
      new Map(configEntries.map(({ configName, configValue }) => [configName, configValue])),
    ]),
  )
}
