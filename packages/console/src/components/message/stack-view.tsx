// A stack trace: the root cause first, own frames bold, frames of libraries folded. The raw text is always there.

import { useState } from 'react'
import { namedSteering } from '../../domain/payload/directions.ts'
import { firstRuns, frameRuns, shortFrame, stackSections } from '../../domain/payload/stack.ts'
import { counted, numberText } from '../../domain/words.ts'
import { Button } from '../controls/button.tsx'
import { DirectedText } from '../show/directed-text.tsx'
import { LongWords } from '../show/long-words.tsx'
import { copyText } from '../toasts.tsx'
import { FrameLink } from '../tool-links.tsx'
import styles from './message.module.css'

/** A recursion without end has 1,024 frames, which say no more than the first ones, and push the value out of sight. */
const shownLines = 24

export function StackView({ trace }: { trace: string }) {
  const [raw, setRaw] = useState(false)
  const [whole, setWhole] = useState<string | null>(null)
  const sections = stackSections(trace)
  const own = sections.flatMap(({ frames }) => frames).filter((frame) => frame.own).length
  const total = sections.flatMap(({ frames }) => frames).length
  return (
    <div className={styles.stack}>
      <p className={styles.over}>
        <span>
          {counted(own, 'own frame')}, {total - own} of libraries
        </span>
        <Button look="quiet" onPress={() => setRaw(!raw)}>
          {raw ? 'Folded' : 'As it came'}
        </Button>
        <Button look="quiet" onPress={() => void copyText(trace, 'the stack trace')}>
          Copy
        </Button>
      </p>
      {raw ? (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard has to reach it
        <pre className={styles.raw} tabIndex={0}>
          <DirectedText text={trace} />
        </pre>
      ) : (
        sections.map((section, at) => (
          <div key={`${at} ${section.title}`}>
            <p className={styles.error}>
              <LongWords text={section.title} />
            </p>
            <Frames
              frames={section.frames}
              most={whole === trace ? Number.POSITIVE_INFINITY : shownLines}
              onAll={() => setWhole(trace)}
            />
          </div>
        ))
      )}
    </div>
  )
}

type FramesProps = {
  frames: ReturnType<typeof stackSections>[number]['frames']
  /** Lines that are shown. */
  most: number
  onAll: () => void
}

/** Frames repeat, so a frame is known by its place. */
function Frames({ frames, most, onAll }: FramesProps) {
  const { runs, left } = firstRuns(frameRuns(frames), most)
  return (
    <>
      {runs.map((run, at) =>
        run.own ? (
          <ul key={`${at} own`} className={styles.own}>
            {run.frames.map((frame, place) => (
              <li key={`${place} ${frame.text}`} title={namedSteering(frame.text)}>
                <code>
                  <FrameLink frame={frame.text}>
                    <DirectedText text={shortFrame(frame.text)} />
                  </FrameLink>
                </code>
              </li>
            ))}
          </ul>
        ) : (
          <details key={`${at} libraries`} className={styles.libraries}>
            <summary>{run.frames.length} of libraries</summary>
            <ul>
              {run.frames.map((frame, place) => (
                <li key={`${place} ${frame.text}`}>
                  <code>
                    <DirectedText text={frame.text} />
                  </code>
                </li>
              ))}
            </ul>
          </details>
        ),
      )}
      {left === 0 ? null : (
        <p className={styles.over}>
          <span>and {counted(left, 'frame')} more</span>
          <Button look="quiet" onPress={onAll}>
            Show all {numberText(frames.length)} frames
          </Button>
        </p>
      )}
    </>
  )
}
