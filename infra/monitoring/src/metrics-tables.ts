// Makes the tables of infra/docs/metrics.md from the code.

import { metricsOf, type Section, sections } from './service-metrics.ts'

const titles: Record<Section, string> = {
  'every service': 'Every service',
  'api: the fleet': 'The fleet, on the API',
  api: 'API',
  ingester: 'Ingester',
  retrier: 'Retrier',
}

function metricsTables(): string {
  return sections
    .map((section) =>
      [
        `## ${titles[section]}`,
        '',
        '| metric | type | labels | meaning |',
        '|---|---|---|---|',
        ...metricsOf(section).map(
          ({ name, type, labels, help }) =>
            `| \`${name}\` | ${type} | ${labels.map((label) => `\`${label}\``).join(', ')} | ${help} |`,
        ),
      ].join('\n'),
    )
    .join('\n\n')
}

/** The document with its tables replaced: everything from the first of their headings on. */
export function withTables(document: string): string {
  return `${document.slice(0, document.indexOf(`## ${titles['every service']}`))}${metricsTables()}\n`
}
