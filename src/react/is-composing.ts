import type { KeyboardEvent } from 'react'

/** Whether a key press belongs to an input method. Safari ends the composition before its last key; 229 marks that key. */
export const isComposing = ({ nativeEvent }: KeyboardEvent): boolean =>
  nativeEvent.isComposing || nativeEvent.keyCode === 229
