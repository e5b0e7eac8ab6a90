/** Whether a text is answered in Chinese. */
export const isChinese = (text: string): boolean => /\p{Script=Han}/u.test(text)
