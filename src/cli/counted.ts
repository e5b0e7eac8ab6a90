import type { Contents } from '../store/backup/copy.ts'

/** `1 event`, `2 events`. */
export const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`

export const contentsText = ({ conversations, events, templates, taskFiles }: Contents): string =>
  [
    counted(conversations, 'conversation'),
    counted(events, 'event'),
    counted(templates, 'template'),
    ...(taskFiles > 0 ? [counted(taskFiles, 'task file')] : []),
  ].join(', ')
