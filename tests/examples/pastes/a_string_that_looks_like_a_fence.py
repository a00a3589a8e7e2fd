import torch
text = '''
```python
x = 1
```
'''
print(len(text), torch.tensor(len(text)))
