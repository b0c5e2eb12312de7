/** Address of a picture, beside the script that names it. */
declare module "*.webp" {
  const address: string;
  export default address;
}
