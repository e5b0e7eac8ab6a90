import type { Strings } from './strings.ts'

/** The locale for dates and times: the strings' language, in the browser's regional variant if there is one. */
export function localeOf({ locale }: Strings): string {
  // Browsers also list entries that are not language tags, such as `en-US@posix`.
  const regional = new RegExp(`^${locale}(-[A-Z]{2})?$`)
  return globalThis.navigator?.languages?.find(each => regional.test(each)) ?? locale
}
