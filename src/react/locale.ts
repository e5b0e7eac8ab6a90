import type { Words } from './words.ts'

/** For dates and times: the language of the page, as the browser's own region writes it where it has that language. */
export function localeOf({ locale }: Words): string {
  // Browsers also name what is no language tag, such as `en-US@posix`.
  const own = new RegExp(`^${locale}(-[A-Z]{2})?$`)
  return navigator.languages.find(each => own.test(each)) ?? locale
}
