/** A stylesheet imported by a script is its text. */
declare module "*.css" {
  const text: string;
  export default text;
}
