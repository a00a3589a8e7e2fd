# The usual guard at the end of a script.
import torch
def main():
    print("main runs", torch.ones(1))
if __name__ == "__main__":
    main()
