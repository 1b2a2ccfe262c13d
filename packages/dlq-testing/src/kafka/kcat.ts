// Reads topics with librdkafka, where kcat is installed: a second implementation of a read-committed consumer.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** The values of a topic in no particular order; null where kcat is not installed. */
export async function readWithKcat(brokers: readonly string[], topic: string): Promise<string[] | null> {
  const output = await readFormatted(brokers, topic, '%s\n')
  return output?.split('\n').filter((line) => line !== '') ?? null
}

/** The values of one header of a topic's records, where they are ids; null where kcat is not installed. */
export async function readHeaderWithKcat(
  brokers: readonly string[],
  topic: string,
  header: string,
): Promise<string[] | null> {
  // Other headers may hold anything, line ends too.
  const output = await readFormatted(brokers, topic, '%h\n')
  if (output === null) return null
  return [...output.matchAll(new RegExp(`\\b${header}=([0-9a-f-]+)`, 'g'))].map(([, value]) => value!)
}

async function readFormatted(brokers: readonly string[], topic: string, format: string): Promise<string | null> {
  try {
    const args = ['-b', brokers.join(), '-C', '-t', topic, '-o', 'beginning', '-e', '-q', '-f', format]
    const { stdout } = await run('kcat', [...args, '-X', 'isolation.level=read_committed'], {
      maxBuffer: 512 * 1024 * 1024,
      timeout: 120_000,
    })
    return stdout
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}
