import type { KeyboardEvent } from 'react'

/** Whether a key belongs to an input method. Safari ends the composition before the key that ends it: 229 tells. */
export const isComposing = ({ nativeEvent }: KeyboardEvent): boolean =>
  nativeEvent.isComposing || nativeEvent.keyCode === 229
