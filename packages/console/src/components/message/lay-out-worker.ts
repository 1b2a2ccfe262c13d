// Lays out a large value beside the page, which goes on meanwhile.

import { layOut, maxWorkerChars } from '../../domain/payload/value.ts'

addEventListener('message', ({ data }: MessageEvent<string>) => postMessage(layOut(data, maxWorkerChars)))
