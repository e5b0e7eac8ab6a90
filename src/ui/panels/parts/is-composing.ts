import type { KeyboardEvent } from 'react'

/**
 * True if a key press belongs to an input method. Safari ends the composition before its last key event, which it marks
 * with key code 229.
 */
export const isComposing = ({ nativeEvent }: KeyboardEvent): boolean =>
  nativeEvent.isComposing || nativeEvent.keyCode === 229
