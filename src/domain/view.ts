import { limitedTurns, type LimitedTurns } from './limited-turns.ts'
import { combined, projection } from './projection.ts'
import { type Resolution, resolutions } from './resolution.ts'
import { title } from './title.ts'
import { type ThreadLog, threadLog } from './thread-log.ts'
import { type Message, transcript } from './transcript.ts'
import { type Work, work } from './work.ts'

/** What a page shows of a conversation besides its state. Plain data, folded by server and client alike. */
export interface View {
  readonly title: string | null
  readonly messages: readonly Message[]
  /** Review id to how it ended. */
  readonly resolutions: { readonly [review_id: string]: Resolution }
  readonly limited: LimitedTurns
  /** Task id to the seq at which a person added it. */
  readonly added: { readonly [task_id: string]: number }
  readonly work: Work
  /** What happened in each turn, for `threadOf`. */
  readonly thread: ThreadLog
}

const added = projection<View['added']>({
  initial: {},
  on: {
    task_created: (known, { data: { task, by }, seq }) => (by === 'person' ? { ...known, [task.id]: seq } : known),
    task_removed: (known, { data: { task } }) => {
      if (!Object.hasOwn(known, task.id)) return known
      const { [task.id]: _gone, ...rest } = known
      return rest
    },
  },
})

export const view = combined<View>({
  title,
  messages: transcript,
  resolutions,
  limited: limitedTurns,
  added,
  work,
  thread: threadLog,
})
