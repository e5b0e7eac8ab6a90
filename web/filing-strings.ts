/** The texts of what is done with conversations, which are loaded with it. */
export interface FilingStrings {
  readonly rename: string
  readonly newTitle: string
  readonly pin: string
  readonly unpin: string
  readonly archive: string
  readonly exportMarkdown: string
  readonly exportJson: string
  readonly archivedNow: (title: string) => string
  readonly undo: string
  /** A change that failed. */
  readonly notRenamed: (title: string) => string
  readonly noneArchived: string
  readonly backToList: string
  readonly searching: string
  readonly noResults: (query: string) => string
  readonly noResultsHint: string
  /** Older texts are not searched yet. */
  readonly indexing: string
  readonly kinds: Readonly<Record<'conversation' | 'task' | 'message', string>>
}
