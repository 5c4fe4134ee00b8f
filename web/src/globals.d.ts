declare const VERSION: string;
declare module '*.css' {
  const text: string;
  export default text;
}
