import type { PageStrings } from './page-strings.ts'

const englishFiling = {
  rename: 'Rename',
  newTitle: 'New title',
  pin: 'Pin',
  unpin: 'Unpin',
  archive: 'Archive',
  exportMarkdown: 'Export as Markdown',
  exportJson: 'Export as JSON lines',
  archivedNow: (title: string) => `Archived “${title}”`,
  undo: 'Undo',
  notRenamed: (title: string) => `Not renamed to “${title}”.`,
  noneArchived: 'Nothing is archived.',
  backToList: 'Back to all conversations',
  searching: 'Searching…',
  noResults: (query: string) => `No results for “${query}”`,
  noResultsHint: 'Every word has to occur, the last one at least by its beginning.',
  indexing: 'Older texts are still being indexed: there may be more.',
  kinds: { conversation: 'Conversations', task: 'Tasks', message: 'Messages' },
}

export type FilingStrings = typeof englishFiling

export const filingStrings = (strings: PageStrings): FilingStrings => strings.filing ?? englishFiling
