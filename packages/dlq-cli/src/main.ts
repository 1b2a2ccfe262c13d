#!/usr/bin/env node
// The `dlq` of the package; built to one file, because Node reads no TypeScript below node_modules.
import { runCli } from './program.ts'
import { processTerminal } from './terminal.ts'

const stop = new AbortController()
for (const name of ['SIGINT', 'SIGTERM']) process.once(name, () => stop.abort(name))
process.exitCode = await runCli(process.argv.slice(2), processTerminal(stop.signal))
