/** Titles as a numbered list, one per line. */
export const numbered = (titles: readonly string[]): string =>
  titles.map((title, index) => `${index + 1}. ${title}`).join('\n')
