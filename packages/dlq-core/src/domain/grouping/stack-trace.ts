// Reads the stack traces of Java, JavaScript, Python, Go and .NET as far as grouping needs:
// the root cause's class and message, and the frames from the root cause outward. No line
// numbers and no names that a compiler or proxy generates: those change although the error does not.
import { findMarker } from '../failure/find-marker.ts'
import { isDotnetLibrary, isGoLibrary, isJavascriptLibrary, isJvmLibrary, isPythonLibrary } from './library-frame.ts'

/** The root cause of a stack trace. Null where the trace does not say. */
export type RootCause = {
  readonly errorClass: string | null
  /** Its first line. */
  readonly message: string | null
  /** The application's frame nearest to the root cause; if all are a library's, the root cause's first. */
  readonly location: string | null
  /** Whether the trace names this error as the cause of another. */
  readonly nested: boolean
}

/** Most frames are a library's and are skipped, so the location is computed only when requested. */
type Frame = { readonly library: boolean; readonly location: () => string }

/** The part of a stack trace that belongs to one error, header and frames. */
type Section = { readonly start: number; readonly end: number }

// A trace is read at its head, where its own frames are usual, and from its last cause on.
export const headChars = 16 * 1024
export const tailChars = 4 * 1024
export const searchedChars = 256 * 1024

/** A longer chain of causes is read at its root end only. */
const maxSections = 32
const maxNameChars = 256

const unknown: RootCause = { errorClass: null, message: null, location: null, nested: false }

/** Reads at most 20 KB of the trace, whatever its length; all of `unknown` is null where nothing is recognised. */
export function rootCause(stacktrace: string): RootCause {
  const trace = clip(stacktrace)
  // In the order of how surely the test tells; Java's tab is the cheapest and by far the most usual.
  if (trace.includes('\n\tat ')) return readAtFrames(trace)
  if (trace.includes('", line ') && /^[ |+]*File "/m.test(trace)) return readPython(trace)
  if (/^[ \t]+at \S/m.test(trace)) return readAtFrames(trace)
  if (trace.includes('.go:')) return readGo(trace)
  if (trace.includes('@')) return readFirefox(trace)
  return unknown
}

/** The head, and the root cause's part where it lies beyond. */
function clip(trace: string): string {
  if (trace.length <= headChars + tailChars) return trace
  const searchFrom = Math.max(headChars, trace.length - searchedChars)
  const cause = trace.slice(searchFrom).lastIndexOf('\nCaused by: ')
  const tailAt = cause === -1 ? trace.indexOf('\n', trace.length - tailChars) : searchFrom + cause
  return trace.slice(0, headChars) + (tailAt === -1 ? '' : trace.slice(tailAt, tailAt + tailChars))
}

/** Java, V8 and .NET write `at frame`, each in its own way, below a header `class: message`. */
function readAtFrames(trace: string): RootCause {
  const sections = dotnetSections(trace) ?? causeSections(trace)
  const header = readHeader(trace, sections[0]!)
  return {
    ...header,
    location: locate(trace, sections, /\n[ \t]+at ([^\n]+)/g, readAtFrame),
    nested: sections[0]!.start > 0,
  }
}

/**
 * How Java, pino and Node introduce a cause. Java indents the causes of suppressed
 * exceptions; only those at the margin are causes of the error itself.
 */
const causeMarkers = ['\nCaused by: ', '\ncaused by: ', ' [cause]: ']

/** The sections of an error and its causes, innermost first. */
function causeSections(trace: string): Section[] {
  const starts = [0]
  let isSorted = true
  for (const marker of causeMarkers) {
    const last = starts.at(-1)!
    for (let at = findMarker(trace, marker); at !== -1; at = findMarker(trace, marker, at + 1)) {
      const start = at + marker.length
      if (trace.startsWith('[CIRCULAR', start)) continue
      if (start < last) isSorted = false
      starts.push(start)
    }
  }
  // Nearly all traces have one kind of marker.
  if (!isSorted) starts.sort((a, b) => a - b)
  const sections = starts.map((start, index) => ({ start, end: starts[index + 1] ?? trace.length }))
  return sections.slice(-maxSections).reverse()
}

/**
 * .NET writes all headers first, outermost first, then the frames innermost first: the
 * root cause is the last ` ---> ` before the first end of an inner stack trace.
 */
function dotnetSections(trace: string): Section[] | null {
  const firstEnd = findMarker(trace, '--- End of inner exception stack trace ---')
  if (firstEnd === -1) return null
  const arrow = trace.lastIndexOf(' ---> ', firstEnd)
  return [{ start: arrow === -1 ? 0 : arrow + ' ---> '.length, end: trace.length }]
}

function readHeader(trace: string, { start, end }: Section): Pick<RootCause, 'errorClass' | 'message'> {
  const lineEnd = trace.indexOf('\n', start)
  const limit = Math.min(lineEnd === -1 ? end : lineEnd, end, start + 4096)
  const line = trace
    .slice(start, limit)
    .replace(
      /^Exception in thread "[^"]{0,256}" |^(?:Uncaught|Unhandled exception\.) (?:\(in promise\) )?|^\(Inner Exception #\d+\) /,
      '',
    )
  const match = /^([\p{L}_$][\p{L}\d_$.+`/]{0,255})(?: \[[\w$]{1,64}\])?(?:: ?(.*))?\r?$/u.exec(line)
  return match === null
    ? { errorClass: null, message: null }
    : { errorClass: withoutGeneratedNames(match[1]!), message: match[2] ?? null }
}

/** The first own frame, section by section; else the first frame of all. */
function locate(
  trace: string,
  sections: readonly Section[],
  framePattern: RegExp,
  read: (frame: string) => Frame | null,
): string | null {
  let first: Frame | null = null
  for (const { start, end } of sections) {
    const suppressedAt = findMarker(trace, '\n\tSuppressed: ', start)
    const limit = suppressedAt === -1 ? end : Math.min(suppressedAt, end)
    framePattern.lastIndex = start
    for (
      let match = framePattern.exec(trace);
      match !== null && match.index < limit;
      match = framePattern.exec(trace)
    ) {
      const frame = read(match[1]!)
      if (frame === null) continue
      if (!frame.library) return frame.location()
      first ??= frame
    }
  }
  return first?.location() ?? null
}

function readAtFrame(frame: string): Frame | null {
  const text = frame.length > 2 * maxNameChars ? frame.slice(0, 2 * maxNameChars) : frame.trimEnd()
  return readJvmFrame(text) ?? readV8Frame(text) ?? readDotnetFrame(text)
}

/** `module@1/com.acme.Orders.process(Orders.java:42) ~[orders.jar:1.0]` */
function readJvmFrame(frame: string): Frame | null {
  const open = frame.indexOf('(')
  if (open <= 0 || frame[open - 1] === ' ') return null
  jvmPlace.lastIndex = open
  if (!jvmPlace.test(frame)) return null
  // The module or class loader ends at a slash; so does `$$Lambda/0x…`, which does not begin one.
  const lambdaAt = frame.indexOf('$$Lambda')
  const method = frame.slice(frame.lastIndexOf('/', lambdaAt === -1 ? open : lambdaAt) + 1, open)
  return { library: isJvmLibrary(method), location: () => withoutGeneratedNames(method) }
}

/** The text in a Java frame's parentheses, and in no other's. */
const jvmPlace =
  /\((?:[^\s():]{1,256}\.\w{1,16}(?::-?\d+)?|Native Method|(?:Unknown Source|SourceFile)(?::\d+)?|<generated>|Unknown)\)/y

/**
 * Removes what JVM compilers, proxies and containers put into names, and changes from one
 * build or start to the next: `$$Lambda/0x…`, `lambda$process$0`, `$$SpringCGLIB$$0`, `$1`.
 */
function withoutGeneratedNames(name: string): string {
  if (!/[$_]|Accessor\d/.test(name)) return name
  return name.replace(/(?<=\.)(?:lambda|\$anonfun)\$([^$.]+)[^.]*/g, '$1').replace(generatedNames, '')
}

const generatedNames = new RegExp(
  [
    '\\$\\$[^.]*',
    '\\$(?:HibernateProxy|ByteBuddy|MockitoMock|Proxy\\$_)\\$?\\w*',
    '_(?:ClientProxy|Subclass)(?=\\.|$)',
    '(?:\\$\\d+|\\$(?:adapted|lambda|anonfun|default))+(?=[.$]|$)',
    '(?<=\\$Proxy|Accessor)\\d+',
  ].join('|'),
  'g',
)

/** `async Orders.process [as run] (file:///app/src/orders.js:10:5)`, or the place alone. */
function readV8Frame(frame: string): Frame | null {
  const match =
    /^(?:(?:async|new|get|set) )*(?:(\S+)(?: \[as [^\]]{1,64}\])? \()?(?:(.+?)(?::\d+){1,2}|(native|<anonymous>|index \d+))\)?(?: \{)?$/.exec(
      frame,
    )
  if (match === null) return null
  const [, name = '', file, none = ''] = match
  // The place inside evaluated code names the place of the eval, with its line.
  const path = file?.startsWith('eval at ') ? '<eval>' : (file ?? none)
  return { library: isJavascriptLibrary(path), location: () => inFile(name, path) }
}

/** `Acme.Orders.Service.<ProcessAsync>d__5.MoveNext() in /src/Service.cs:line 42` */
function readDotnetFrame(frame: string): Frame | null {
  const open = frame.indexOf('(')
  const name = frame.slice(0, open)
  if (open <= 0 || name.includes(' ')) return null
  const method = name
    .replace(/\.<>c(?:__DisplayClass[\d_]+)?(?:`\d+)?(?=\.)/g, '')
    .replace(/<<([^<>]+)>[^<>]*>[a-z]__[\w|]*(?:\.MoveNext)?/g, '$1')
    .replace(/<([^<>]+)>g__(\w+?)\|[\d_]+/g, '$1.$2')
    .replace(/<([^<>]+)>[a-z]__[\w|]*(?:`\d+)?(?:\.MoveNext)?/g, '$1')
    .replace(/`\d+|\[[^[\]]*\]/g, '')
  return { library: isDotnetLibrary(method), location: () => method }
}

/** The innermost call is Python's last, and only `raise … from` puts a cause before its effect. */
function readPython(trace: string): RootCause {
  const blocks = trace.split(/\n[ |]*\n(?=[ |]*(?:The above exception was|During handling of the above))/)
  let root = blocks.length - 1
  while (root > 0 && blocks[root]!.includes('The above exception was the direct cause')) root--

  let first: string | null = null
  for (const block of blocks.slice(root)) {
    const frames = [...block.matchAll(/^[ |+]*File "([^"\n]{1,512})", line \d+(?:, in ([^\n]{1,256}))?/gm)].reverse()
    for (const [, path, name] of frames) {
      const location = inFile(
        name
          ?.trimEnd()
          .replace(/<(?:module|lambda|\w+comp|genexpr)>/g, '')
          .replace(/\.$/, '') ?? '',
        path!,
      )
      if (!isPythonLibrary(path!.replaceAll('\\', '/')))
        return { ...pythonHeader(blocks[root]!), location, nested: root < blocks.length - 1 }
      first ??= location
    }
  }
  return { ...pythonHeader(blocks[root]!), location: first, nested: root < blocks.length - 1 }
}

/** The line `class: message` that follows the frames, at the margin. */
function pythonHeader(block: string): Pick<RootCause, 'errorClass' | 'message'> {
  const framesEnd = block.lastIndexOf('", line ')
  const match = /^(?:[ |+]*\| )?([A-Za-z_][\w.]{0,255})(?:: ([^\n]*))?$/m.exec(
    block.slice(block.indexOf('\n', framesEnd) + 1),
  )
  return { errorClass: match?.[1] ?? null, message: match?.[2] ?? null }
}

/** A panic or an error of github.com/pkg/errors: each function, then its file on the next line. */
function readGo(trace: string): RootCause {
  // Other goroutines say where the rest of the program was.
  const others = trace.indexOf('\n\ngoroutine ', trace.indexOf('goroutine ') + 1)
  const running = others === -1 ? trace : trace.slice(0, others)
  // Above panic(…) stands who recovered.
  const panicked = running.slice(Math.max(0, running.lastIndexOf('\npanic(')))
  const header = /^(panic|fatal error): ([^\n]*)/m.exec(running)
  let first: string | null = null
  let location: string | null = null
  for (const [, name, path] of panicked.matchAll(
    /^(?!created by |panic\()([^\s(][^\n]{0,511})\r?\n[ \t]+(\S{1,512}\.go):\d+/gm,
  )) {
    const frame = { location: goFunction(name!), library: isGoLibrary(name!, path!) }
    first ??= frame.location
    if (frame.library) continue
    location = frame.location
    break
  }
  return {
    errorClass: header?.[1] ?? null,
    message: header?.[2]?.replace(/ \[recovered.*/, '') ?? null,
    location: location ?? first,
    nested: false,
  }
}

/** `github.com/acme/orders.(*Service).Process.func1({0xc000…})` without arguments and closures. */
function goFunction(call: string): string {
  return call
    .trimEnd()
    .replace(/\((?!\*)[^()]*(?:\([^()]*\)[^()]*)*\)?$/, '')
    .replace(/\[[^[\]]*\]/g, '')
    .replace(/(?:\.(?:func|gowrap|deferwrap)?\d+|-range\d+|-fm)+$/, '')
    .replace(/\.glob\.$/, '')
}

/** Firefox and Safari: `process@https://acme.com/app.js:10:5`, without a header. */
function readFirefox(trace: string): RootCause {
  let first: string | null = null
  for (const [, name, path] of trace.matchAll(/^([^\n@]{0,256})@([^\n]{1,512}?)(?::\d+){1,2}\r?$/gm)) {
    const location = inFile(name!.replace(/^(?:async\*|promise callback\*)+|(?:\/<)+$/g, ''), path!)
    if (!isJavascriptLibrary(path!)) return { ...unknown, location }
    first ??= location
  }
  return { ...unknown, location: first }
}

/** `name (directory/file)`. More of the path belongs to the machine and the release, not to the code. */
function inFile(name: string, path: string): string {
  const file = path
    .replaceAll('\\', '/')
    .replace(/[?#].*$/, '')
    .replace(/^[a-z-]+:\/+[^/]*(?=\/)/, '')
    .split('/')
    .slice(-2)
    .join('/')
    .replace(/(?<![A-Za-z])(?=[a-f]{0,63}\d)(?=\d{0,63}[a-f])[\da-f]{8,64}(?![A-Za-z\d])|\d{4,32}/g, '*')
    .replace(/^\//, '')
  const called = name.replaceAll('<anonymous>', '').replace(/^Object\.|^Module\.|\.$/g, '')
  return called === '' ? file : `${called} (${file})`
}
