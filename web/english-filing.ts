import type { FilingStrings } from './filing-strings.ts'

export const englishFiling: FilingStrings = {
  rename: 'Rename',
  newTitle: 'New title',
  pin: 'Pin',
  unpin: 'Unpin',
  archive: 'Archive',
  exportMarkdown: 'Export as Markdown',
  exportJson: 'Export as JSON lines',
  archivedNow: title => `Archived “${title}”`,
  undo: 'Undo',
  notRenamed: title => `Not renamed to “${title}”.`,
  noneArchived: 'Nothing is archived.',
  backToList: 'Back to all conversations',
  searching: 'Searching…',
  noResults: query => `No results for “${query}”`,
  noResultsHint: 'Every word has to occur, the last one at least by its beginning.',
  indexing: 'Older texts are still being indexed: there may be more.',
  kinds: { conversation: 'Conversations', task: 'Tasks', message: 'Messages' },
}
