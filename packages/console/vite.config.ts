// Builds the console into dist: hashed files with .br and .gz beside them, and a manifest for the server and the budgets.
// Every URL in the build is relative to <base> of index.html, so that one build runs under any prefix.

import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'

const compressible = 'dist/**/*.{js,css,html,svg,json}'
/** Below this, compression saves no packet. */
const minBytes = 1024

const api = process.env.DLQ_API ?? 'http://127.0.0.1:8080'
// Without a changed origin, the API sees the host that the browser sees, as behind its own server.
const proxy = { '/api': { target: api, changeOrigin: false }, '/console/config.json': { target: api } }

function compress(): Plugin {
  return {
    name: 'compress',
    apply: 'build',
    closeBundle() {
      const cwd = import.meta.dirname
      for (const file of globSync(compressible, { cwd })) {
        const bytes = readFileSync(`${cwd}/${file}`)
        if (bytes.length < minBytes) continue
        writeFileSync(`${cwd}/${file}.gz`, gzipSync(bytes, { level: 9 }))
        writeFileSync(
          `${cwd}/${file}.br`,
          brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } }),
        )
      }
    },
  }
}

/** Whichever stylesheet comes first says the order of the layers, so each says it. */
function layerOrder(): Plugin {
  return {
    name: 'layer-order',
    apply: 'build',
    generateBundle(_, bundle) {
      for (const file of Object.values(bundle)) {
        if (file.type === 'asset' && file.fileName.endsWith('.css'))
          file.source = `@layer tokens,base,components,pages;${file.source}`
      }
    },
  }
}

export default defineConfig(({ command, isPreview }) => ({
  base: command === 'build' ? './' : '/console/',
  plugins: [react(), layerOrder(), compress()],
  build: {
    target: ['chrome140', 'firefox140', 'safari18.4'],
    manifest: true,
    modulePreload: { polyfill: false },
    // An inlined file would be a data: URL, which the content policy refuses.
    assetsInlineLimit: 0,
    cssMinify: 'lightningcss',
    chunkSizeWarningLimit: 600,
  },
  // Names of grid areas stay as they are written: the frame places what other modules style.
  worker: { format: 'es' },
  css: { transformer: 'lightningcss', lightningcss: { cssModules: { pattern: '[local]_[hash]', grid: false } } },
  server: { proxy },
  preview: { proxy },
  ...(isPreview ? { appType: 'spa' as const } : {}),
}))
