#!/usr/bin/env node
// The `dlq` of the package; built to one file, because Node reads no TypeScript below node_modules.
import { runCli } from './program.ts'
import { processTerminal } from './terminal.ts'

const stop = new AbortController()
process.once('SIGINT', () => stop.abort())
process.once('SIGTERM', () => stop.abort())
process.exitCode = await runCli(process.argv.slice(2), processTerminal(stop.signal))
