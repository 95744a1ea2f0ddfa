import * as React from "react";

type Props = { label: string };

export const Button: React.FC<Props> = ({ label }) => {
  const onClick = () => {};
  return <button onClick={onClick}>{label}</button>;
};

export function App() {
  return (
    <main>
      <Button label="go" />
    </main>
  );
}

const Memo = React.memo(function Inner(props: Props) {
  return <b>{props.label}</b>;
});
