// What it costs to make a value readable, beside the floor: JSON.parse of the same value. CPU of one thread, no servers.

import { gzipSync, zstdCompressSync } from 'node:zlib'
import { parseAvroSchema } from 'dlq-core/domain/payload/avro/avro-schema.ts'
import { compileAvroReader } from 'dlq-core/domain/payload/avro/read-avro.ts'
import { compileAvroWriter } from 'dlq-core/domain/payload/avro/write-avro.ts'
import { cborCodec } from 'dlq-core/domain/payload/binary/cbor-codec.ts'
import { msgpackCodec } from 'dlq-core/domain/payload/binary/msgpack-codec.ts'
import { decompress } from 'dlq-core/domain/payload/decompress.ts'
import { createFramedProtobufCodec, describedProtos } from 'dlq-core/domain/payload/protobuf/protobuf-codec.ts'
import { projectPayload, projectWritten } from 'dlq-core/domain/record/payload-projection.ts'
import type { BenchRun } from '../measure/bench-run.ts'
import { median } from '../measure/statistics.ts'
import { formatNumber, formatTable } from '../measure/table.ts'
import { orderJson, orderProto, orderSchema } from './order.ts'

const quickTimes = 2000
const times = 20_000
/** Confluent's frame of the first message of a file. */
const firstMessage = Buffer.from([0])

export async function benchDecode({ quick, rounds, print }: BenchRun): Promise<void> {
  const type = parseAvroSchema(orderSchema)
  const read = compileAvroReader(type)
  const write = compileAvroWriter(type)
  const avro = write(orderJson)
  const json = Buffer.from(orderJson)
  const gzipped = gzipSync(json)
  const msgpack = msgpackCodec.write(orderJson, Buffer.from([0xc0]), 0)
  const cbor = cborCodec.write(orderJson, Buffer.from([0xf6]), 0)
  const protobuf = createFramedProtobufCodec(describedProtos([{ name: '', text: orderProto }]))
  const inProtobuf = Buffer.concat([firstMessage, protobuf.write(orderJson, firstMessage, 0)])
  const zstd = zstdCompressSync(json)
  const works: Readonly<Record<string, () => unknown>> = {
    'JSON.parse (floor)': () => JSON.parse(json.toString()),
    'JSON to payload': () => projectPayload(json),
    'Avro to text': () => read(avro),
    'Avro to payload': () => projectWritten(read(avro)),
    'MessagePack to text': () => msgpackCodec.read(msgpack, 0),
    'CBOR to text': () => cborCodec.read(cbor, 0),
    'Protobuf to text': () => protobuf.read(inProtobuf, 0),
    'Protobuf to payload': () => projectPayload(Buffer.from(protobuf.read(inProtobuf, 0))),
    'JSON to Avro': () => write(orderJson),
    'JSON to Protobuf': () => protobuf.write(orderJson, inProtobuf, 0),
    gunzip: () => decompress(gzipped, 'gzip'),
    'zstd, unpacked': () => decompress(zstd, 'zstd'),
    'a text in .proto, once a schema': () => describedProtos([{ name: '', text: orderProto }]),
  }
  const taken = new Map<string, number[]>(Object.keys(works).map((name) => [name, []]))
  for (let round = 0; round < rounds; round += 1)
    for (const [name, work] of Object.entries(works)) taken.get(name)!.push(microsOf(work, quick ? quickTimes : times))
  const floor = median(taken.get('JSON.parse (floor)')!)
  print(
    `decode: a value of ${json.length} bytes as JSON, ${avro.length} as Avro, ${inProtobuf.length - 1} as Protobuf, µs of CPU`,
  )
  const rows = [...taken].map(([name, all]) => [
    name,
    formatNumber(median(all), 1),
    formatNumber(median(all) / floor, 2),
  ])
  print(formatTable(['', 'µs', 'of floor'], rows))
}

function microsOf(work: () => unknown, times: number): number {
  for (let time = 0; time < times / 10; time += 1) work()
  const before = process.cpuUsage()
  for (let time = 0; time < times; time += 1) work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / times
}
