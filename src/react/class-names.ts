/** The class names that are set, as one attribute value. */
export const classNames = (...names: readonly (string | undefined)[]): string => names.filter(Boolean).join(' ')
